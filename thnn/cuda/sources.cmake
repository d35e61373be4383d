# The sources of libTHCUNN, which the emulation in tests/cuda compiles too.

set(THCUNN_SOURCE_DIR "${CMAKE_CURRENT_LIST_DIR}")

# Sources without a template, compiled once.
set(THCUNN_COMMON_SOURCES THC/THCState.cpp THC/THCPlan.cpp THC/THCBlas.cpp THC/THCStrided.cu
                          THC/THCIndex.cu THC/THCSort.cu)

# Compiled once per element type: float, double, long, int.
set(THCUNN_ELEMENT_SOURCES THC/generic/THCStorage.cpp THC/generic/THCTensor.cu)

# A folder per family of modules; compiled once per real type.
set(THCUNN_MODULE_SOURCES "")
thnn_folder(THCUNN_MODULE_SOURCES generic/activation Abs.cu Dropout.cu ELU.cu GatedLinear.cu GELU.cu GELUTanh.cu
            HardShrink.cu HardTanh.cu LeakyReLU.cu LogSigmoid.cu LogSoftMax.cu PReLU.cu RReLU.cu
            Sigmoid.cu SiLU.cu SoftMax.cu SoftPlus.cu SoftShrink.cu Sqrt.cu Square.cu Tanh.cu Threshold.cu)
thnn_folder(THCUNN_MODULE_SOURCES generic/convolution grouped.cu GroupedConvolution.cu
            GroupedFullConvolution.cu Im2Col.cu module.cu SpatialConvolutionLocal.cu
            SpatialConvolutionMM.cu SpatialDilatedConvolution.cu SpatialFullConvolution.cu
            SpatialFullDilatedConvolution.cu TemporalConvolution.cu TemporalRowConvolution.cu
            VolumetricConvolution.cu VolumetricConvolutionMM.cu VolumetricDilatedConvolution.cu
            VolumetricFullConvolution.cu VolumetricFullDilatedConvolution.cu)
thnn_folder(THCUNN_MODULE_SOURCES generic/convolution/engine engine.cu unfold.cu)
thnn_folder(THCUNN_MODULE_SOURCES generic/convolution/planewise connected.cu
            SpatialConvolutionMap.cu SpatialDepthWiseConvolution.cu SpatialFullConvolutionMap.cu)
thnn_folder(THCUNN_MODULE_SOURCES generic/criterion AbsCriterion.cu BCECriterion.cu
            ClassNLLCriterion.cu DistKLDivCriterion.cu GaussianMixture.cu L1Cost.cu
            MarginCriterion.cu MSECriterion.cu MultiLabelMarginCriterion.cu MultiMarginCriterion.cu
            SmoothL1Criterion.cu SoftMarginCriterion.cu SpatialClassNLLCriterion.cu)
thnn_folder(THCUNN_MODULE_SOURCES generic/linear IndexLinear.cu Linear.cu LookupTable.cu
            LookupTableBag.cu SparseLinear.cu)
thnn_folder(THCUNN_MODULE_SOURCES generic/normalization BatchNormalization.cu
            GroupNormalization.cu LayerNormalization.cu SpatialCrossMapLRN.cu)
thnn_folder(THCUNN_MODULE_SOURCES generic/padding padding.cu Padding.cu SpatialReflectionPadding.cu
            SpatialReplicationPadding.cu VolumetricReplicationPadding.cu)
thnn_folder(THCUNN_MODULE_SOURCES generic/pooling average.cu FeatureLPPooling.cu fractional.cu
            max.cu maxUnpooling.cu Reduction.cu SpatialAdaptiveAveragePooling.cu SpatialAdaptiveMaxPooling.cu
            SpatialAveragePooling.cu SpatialDilatedMaxPooling.cu SpatialFractionalMaxPooling.cu
            SpatialMaxPooling.cu SpatialMaxUnpooling.cu SpatialSubSampling.cu subSampling.cu
            TemporalMaxPooling.cu TemporalSubSampling.cu VolumetricAveragePooling.cu
            VolumetricDilatedMaxPooling.cu VolumetricFractionalMaxPooling.cu
            VolumetricMaxPooling.cu VolumetricMaxUnpooling.cu)
thnn_folder(THCUNN_MODULE_SOURCES generic/recurrent GRUFused.cu GRUSteps.cu LSTMFused.cu LSTMSteps.cu
            RNNSteps.cu SeqGRU.cu SeqLSTM.cu)
thnn_folder(THCUNN_MODULE_SOURCES generic/resampling cubic.cu Interpolation.cu linear.cu nearest.cu
            SpatialGridSamplerBilinear.cu SpatialUpSamplingBilinear.cu SpatialUpSamplingNearest.cu
            VolumetricUpSamplingNearest.cu VolumetricUpSamplingTrilinear.cu)

set(THCUNN_REAL_TYPES CUDA CUDADOUBLE)
set(THCUNN_ELEMENT_TYPES CUDA CUDADOUBLE CUDALONG CUDAINT)

list(TRANSFORM THCUNN_COMMON_SOURCES PREPEND "${THCUNN_SOURCE_DIR}/")
list(TRANSFORM THCUNN_ELEMENT_SOURCES PREPEND "${THCUNN_SOURCE_DIR}/")
list(TRANSFORM THCUNN_MODULE_SOURCES PREPEND "${THCUNN_SOURCE_DIR}/")

# thcunn_add_objects(prefix configure) adds the object libraries prefix_common, prefix_<type> and
# prefix_elements_<type>, calls the function `configure` with each, and sets THCUNN_OBJECTS to their
# objects.
function(thcunn_add_objects prefix configure)
  set(objects)
  add_library(${prefix}_common OBJECT ${THCUNN_COMMON_SOURCES})
  list(APPEND objects ${prefix}_common)
  foreach(type IN LISTS THCUNN_ELEMENT_TYPES)
    add_library(${prefix}_elements_${type} OBJECT ${THCUNN_ELEMENT_SOURCES})
    target_compile_definitions(${prefix}_elements_${type} PRIVATE THC_TYPE_${type})
    list(APPEND objects ${prefix}_elements_${type})
  endforeach()
  foreach(type IN LISTS THCUNN_REAL_TYPES)
    add_library(${prefix}_${type} OBJECT ${THCUNN_MODULE_SOURCES})
    target_compile_definitions(${prefix}_${type} PRIVATE THC_TYPE_${type})
    list(APPEND objects ${prefix}_${type})
  endforeach()
  set(expressions)
  foreach(target IN LISTS objects)
    cmake_language(CALL ${configure} ${target})
    list(APPEND expressions $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(THCUNN_OBJECTS "${expressions}" PARENT_SCOPE)
endfunction()
